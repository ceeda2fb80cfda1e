# One image, two commands: `fairberth operator` and `fairberth extender`.
ARG BASE=python:3.11-slim

FROM ${BASE} AS build
WORKDIR /src
COPY requirements.lock ./
RUN python -m venv /venv && /venv/bin/pip install --no-cache-dir --require-hashes -r requirements.lock
COPY pyproject.toml README.md LICENSE ./
COPY operator operator
# hatchling is the build backend; what is installed into /venv is the package alone.
RUN pip install --no-cache-dir hatchling && pip wheel --no-cache-dir --no-deps --no-build-isolation -w /wheels . \
    && /venv/bin/pip install --no-cache-dir --no-deps /wheels/*.whl

FROM ${BASE}
COPY --from=build /venv /venv
ENV PATH=/venv/bin:$PATH PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1
USER 65532:65532
ENTRYPOINT ["fairberth"]
