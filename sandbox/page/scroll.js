/**
 * Keep the newest message in view, unless the reader scrolled up.
 */

/** A reader this near to the bottom has not scrolled away; about two lines. */
const NEAR_PX = 48;

export class BottomPin {
  #pinned = true;
  #scrollTop = 0;

  /**
   * @param {HTMLElement} scroller
   * @param {HTMLElement} content what grows inside it
   * @param {(pinned: boolean) => void} onChange
   */
  constructor(scroller, content, onChange) {
    this.scroller = scroller;
    this.onChange = onChange;
    scroller.addEventListener("scroll", () => this.#scrolled(), { passive: true });
    // Content grows by edits, by pictures that load and by the keyboard of a phone; all of them resize.
    const observer = new ResizeObserver(() => this.#pinned && this.toBottom());
    observer.observe(content);
    observer.observe(scroller);
  }

  get pinned() {
    return this.#pinned;
  }

  toBottom() {
    this.scroller.scrollTop = this.scroller.scrollHeight;
    this.#set(true);
  }

  /**
   * Tell the reader's scrolling from the content's growth: only a reader goes up. A scroll to the
   * bottom may be reported when the content has already grown again, and is then far from the bottom.
   */
  #scrolled() {
    const wentUp = this.scroller.scrollTop < this.#scrollTop;
    this.#scrollTop = this.scroller.scrollTop;
    if (this.#distance() <= NEAR_PX) this.#set(true);
    else if (wentUp) this.#set(false);
  }

  #distance() {
    return this.scroller.scrollHeight - this.scroller.scrollTop - this.scroller.clientHeight;
  }

  #set(pinned) {
    if (pinned === this.#pinned) return;
    this.#pinned = pinned;
    this.onChange(pinned);
  }
}
