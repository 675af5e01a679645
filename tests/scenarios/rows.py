"""
The list of real failures, by id, and what became of each: a test here, a test elsewhere, or a word.

A test of this folder carries the id of its row in its name. `test_rows` holds all of it together.
"""

import re

#: Every row of the list.
IDS = frozenset(
    # Locks, queue, stop, typing, duplicates, loss and restart, output, Discord's world.
    re.findall(
        r"B\d+",
        """
        B01 B02 B03 B05 B06 B08 B09 B10 B11 B13 B15
        B17 B18 B20 B21 B22 B23 B25 B27 B28
        B29 B30 B32 B33 B35 B36 B38 B39 B40 B42 B44 B45 B47
        B48 B49 B51 B52 B53 B55
        B57 B58 B59 B60 B62 B64 B65 B66 B68
        B69 B70 B71 B72 B74 B75 B76 B78 B79 B80 B81 B83 B84 B85 B87
        B89 B90 B92 B94 B95 B97 B98 B100 B102 B103 B105
        B107 B108 B109 B111 B112 B113 B115 B117 B119 B120 B121 B122 B124 B125 B127 B129
        """,
    )
)

_PROCESSES = "tests/discord/test_bot_processes.py::"
_REFUSALS = "tests/discord/test_bot_refusals.py::"
_MODES = "tests/discord/test_bot_modes.py::"
_BOT = "tests/discord/test_bot.py::"
_THREADS = "tests/discord/test_bot_threads.py::"
_CHAT = "tests/discord/test_bot_chat.py::"
_STREAM = "tests/unit/test_stream.py::"
_STOPWORDS = "tests/unit/test_stopwords.py::"
_SHARDS = "tests/unit/test_shards.py::"

#: Tests that stay with their subject: where the fault lives lower, or a process is killed.
ELSEWHERE: dict[str, tuple[str, ...]] = {
    "B33": (f"{_STOPWORDS}test_b33_a_stop_and_its_please_still_match_when_joined",),
    "B35": (
        f"{_CHAT}test_stop_ends_a_provider_that_never_answers",
        f"{_REFUSALS}test_b35_kill_reaches_a_reply_that_discord_does_not_take",
    ),
    "B44": (f"{_CHAT}test_stop_closes_the_connection_to_the_provider",),
    "B60": (f"{_THREADS}test_b60_a_thread_whose_opening_got_no_answer_is_opened_once",),
    "B64": (f"{_PROCESSES}test_on_sigterm_the_running_turn_ends_and_then_the_process_well",),
    "B72": (
        f"{_PROCESSES}test_kill_9_at_any_moment_costs_nothing_but_time_on_sqlite",
        f"{_PROCESSES}test_the_other_process_takes_over_within_the_life_of_a_lease",
    ),
    "B80": (f"{_SHARDS}test_b80_one_shard_per_bucket_identifies_at_a_time_over_all_processes",),
    "B85": ("tests/unit/test_redis_opening.py::test_what_may_lose_data_is_told_and_no_obstacle",),
    "B89": (f"{_STREAM}test_b89_a_text_of_any_length_is_there_in_full",),
    "B90": (f"{_STREAM}test_b90_an_overflow_in_mid_stream_makes_one_page_and_not_one_a_tick",),
    "B92": (f"{_STREAM}test_b92_the_closing_fence_counts_towards_the_limit",),
    "B94": (f"{_STREAM}test_b94_each_page_of_a_long_block_is_a_block_in_its_language",),
    "B95": (f"{_STREAM}test_b95_an_emoji_at_the_limit_stays_whole",),
    "B102": (f"{_REFUSALS}test_b102_a_page_that_cannot_be_edited_goes_on_in_a_new_message",),
    "B107": (f"{_REFUSALS}test_b107_a_channel_that_is_deleted_while_idle_is_followed_no_more",),
    "B115": (
        f"{_REFUSALS}test_b115_no_right_to_send_is_remembered_and_costs_no_further_turn",
        f"{_REFUSALS}test_a_refused_typing_indicator_ends_only_itself",
        f"{_REFUSALS}test_b115_without_the_right_to_read_history_the_reply_is_sent_plainly",
    ),
    "B125": (
        f"{_MODES}test_deleting_the_message_of_a_running_turn_stops_it",
        f"{_MODES}test_a_waiting_message_is_answered_in_its_new_text",
        f"{_MODES}test_an_edit_is_answered_instead_before_the_first_page_and_not_after_it",
    ),
    "B127": (f"{_BOT}test_a_reply_to_one_of_its_messages_addresses_the_bot_and_so_does_its_role",),
    "B129": (f"{_BOT}test_unaddressed_messages_and_everyone_are_left_alone",),
}

#: Rows, or what of a row, cannot happen to this bot, and why.
NOT_OURS = {
    "B30": "nothing waits inside a turn for a click: the click is a message of its own. Tested is"
    " a cog that waits nevertheless.",
    "B59": "what was answered is never judged by a reply link; the store knows each message.",
    "B84": "no transcript is summarised while a turn runs. Tested is a step that hangs.",
    "B112": "an empty reply is marked with a reaction, which no bot answers.",
}

#: What of a row belongs to something that is not there yet.
LATER = {
    "B18": "there is no mode that steers a running turn.",
    "B22": "there is no mode that steers a running turn; the five that exist are tested.",
    "B29": "there is no mode that steers a running turn; the five that exist are tested.",
    "B39": "there is no mode that steers a running turn, hence no steered message to cancel.",
    "B71": "there is no readiness to ask for; that nobody is forgotten before READY is tested.",
    "B78": "there is no liveness to ask for; that a silent gateway is left is tested.",
    "B85": "there is no health to ask for; that a flushed store is used again is tested.",
}
