# One image, two commands: `fairberth operator` and `fairberth extender`.
ARG BASE=python:3.11-slim

# The wheel, by the locked build backend; nothing else of this stage is kept.
FROM ${BASE} AS wheel
WORKDIR /src
COPY requirements-dev.lock ./
RUN pip install --no-cache-dir --require-hashes -r requirements-dev.lock
COPY pyproject.toml README.md LICENSE ./
COPY operator operator
RUN pip wheel --no-cache-dir --no-deps --no-build-isolation -w /wheels .

FROM ${BASE} AS build
COPY requirements.lock ./
RUN python -m venv /venv && /venv/bin/pip install --no-cache-dir --require-hashes -r requirements.lock
COPY --from=wheel /wheels /wheels
RUN /venv/bin/pip install --no-cache-dir --no-deps /wheels/*.whl

FROM ${BASE}
COPY --from=build /venv /venv
ENV PATH=/venv/bin:$PATH PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1
USER 65532:65532
ENTRYPOINT ["fairberth"]
