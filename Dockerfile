# syntax=docker/dockerfile:1
FROM python:3.13-slim AS build
WORKDIR /src
RUN python -m venv /opt/bot
COPY requirements/run.txt requirements/build.txt requirements/
RUN /opt/bot/bin/pip install --no-cache-dir --require-hashes --only-binary :all: -r requirements/run.txt && \
    python -m pip install --no-cache-dir --require-hashes --only-binary :all: -r requirements/build.txt
COPY pyproject.toml setup.py README.md LICENSE ./
COPY bot bot
COPY alembic alembic
COPY policies policies
RUN python -m pip wheel --no-cache-dir --no-deps --no-build-isolation --wheel-dir dist . && \
    /opt/bot/bin/pip install --no-cache-dir --no-deps dist/*.whl

FROM python:3.13-slim
COPY --from=build /opt/bot /opt/bot
ENV PATH=/opt/bot/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
# The default SQLite file lies in the working folder: mount a volume here, or set DATABASE_URL.
WORKDIR /data
RUN chown 10001:10001 /data
USER 10001:10001
EXPOSE 8080
ENTRYPOINT ["gpu-quota-bot"]
CMD ["run"]
