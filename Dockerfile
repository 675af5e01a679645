FROM python:3.13-slim-bookworm

WORKDIR /srv/interlock
RUN useradd --system --home-dir /srv/interlock interlock && chown interlock /srv/interlock

# The pinned requirements alone first: they change less often than the code.
COPY requirements.txt ./
RUN pip install --no-cache-dir --require-hashes -r requirements.txt

COPY pyproject.toml LICENSE ./
COPY bot ./bot
COPY cogs ./cogs
COPY sandbox ./sandbox
COPY state ./state
RUN pip install --no-cache-dir --no-deps --no-build-isolation --editable .

USER interlock
STOPSIGNAL SIGTERM
ENTRYPOINT ["interlock"]
CMD ["run"]
