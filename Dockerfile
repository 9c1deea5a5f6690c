# Synergy's images, one target for each program: extender, controller, deviceplugin, nodeagent, cli.
#
#   docker build --target extender --tag synergy/extender:0.1.0 .
#
# Kubernetes has probes of its own and passes HEALTHCHECK over. Where a program is given flags, the check needs the same ones.
#
# The programs are built inside (PROGRAMS=source), or taken from the folder programs/ of the build context
# (PROGRAMS=prebuilt): scripts/images.sh makes such a context of build/release/bin, or of what scripts/cross.sh built. What
# follows is the same either way. Each image runs its program once: one that lacks a library is not made.
ARG BASE=debian:bookworm-slim

FROM ${BASE} AS programs
ARG PROGRAMS=source
# What --version names: the build context has no git.
ARG REVISION=
COPY . /synergy
WORKDIR /synergy
# The packages are those that scripts/setup.sh installs, without what only tests need.
RUN if [ "$PROGRAMS" = source ]; then \
      apt-get -qq update && \
      DEBIAN_FRONTEND=noninteractive apt-get -qq install --yes --no-install-recommends \
        g++ cmake ninja-build \
        libcpp-httplib-dev libssl-dev zlib1g-dev libbrotli-dev rapidjson-dev libyaml-cpp-dev prometheus-cpp-dev \
        libexpected-dev libfmt-dev libcli11-dev libabsl-dev libre2-dev coinor-libcbc-dev coinor-libclp-dev \
        libgrpc++-dev libprotobuf-dev protobuf-compiler protobuf-compiler-grpc >/dev/null && \
      cmake --preset release -DSYNERGY_TESTS=OFF -DSYNERGY_RESEARCH=OFF -DSYNERGY_REVISION="$REVISION" && \
      cmake --build --preset release --target programs && \
      mkdir programs && cp build/release/bin/synergy build/release/bin/synergy-* programs/; \
    fi

# What all programs need to run; Debian's packages, so that scanners and updates know them.
FROM ${BASE} AS runtime
# The date that useradd notes: two builds then give the same bytes. Empty: today.
ARG SOURCE_DATE_EPOCH=
RUN [ -n "$SOURCE_DATE_EPOCH" ] || unset SOURCE_DATE_EPOCH; \
    apt-get -qq update && \
    DEBIAN_FRONTEND=noninteractive apt-get -qq install --yes --no-install-recommends \
      libssl3 libfmt9 libyaml-cpp0.7 libcpp-httplib0.11 libbrotli1 libprometheus-cpp-core1.0 libabsl20220623 >/dev/null && \
    rm -rf /var/lib/apt/lists/* /var/cache/apt/* /var/cache/debconf/*-old /var/cache/ldconfig/* /var/log/* && \
    groupadd --gid 65532 synergy && useradd --uid 65532 --gid 65532 --no-create-home --home-dir / --shell /usr/sbin/nologin synergy && \
    rm -f /etc/*-
LABEL org.opencontainers.image.vendor="Synergy for Kubernetes" \
      org.opencontainers.image.licenses="Apache-2.0"
USER 65532:65532

FROM runtime AS extender
LABEL org.opencontainers.image.title="synergy-extender" \
      org.opencontainers.image.description="kube-scheduler's extender for GPU pods"
COPY --from=programs /synergy/programs/synergy-extender /usr/local/bin/
RUN ["synergy-extender", "--version"]
HEALTHCHECK --start-period=10s CMD ["synergy-extender", "--check-health"]
ENTRYPOINT ["synergy-extender"]

FROM runtime AS controller
LABEL org.opencontainers.image.title="synergy-controller" \
      org.opencontainers.image.description="Admission webhook, profiles and tuner"
USER 0:0
RUN apt-get -qq update && \
    DEBIAN_FRONTEND=noninteractive apt-get -qq install --yes --no-install-recommends libre2-9 coinor-libcbc3 coinor-libclp1 >/dev/null && \
    rm -rf /var/lib/apt/lists/* /var/cache/apt/* /var/cache/debconf/*-old /var/cache/ldconfig/* /var/log/*
USER 65532:65532
COPY --from=programs /synergy/programs/synergy-controller /usr/local/bin/
RUN ["synergy-controller", "--version"]
HEALTHCHECK --start-period=10s CMD ["synergy-controller", "--check-health"]
ENTRYPOINT ["synergy-controller"]

FROM runtime AS nodeagent
LABEL org.opencontainers.image.title="synergy-node-agent" \
      org.opencontainers.image.description="Keeps page cache to its shares, and measures the progress of trainings"
USER 0:0
RUN apt-get -qq update && \
    DEBIAN_FRONTEND=noninteractive apt-get -qq install --yes --no-install-recommends libre2-9 libgrpc++1.51 libprotobuf-lite32 libc-ares2 >/dev/null && \
    rm -rf /var/lib/apt/lists/* /var/cache/apt/* /var/cache/debconf/*-old /var/cache/ldconfig/* /var/log/*
COPY --from=programs /synergy/programs/synergy-node-agent /usr/local/bin/
RUN ["synergy-node-agent", "--version"]
# The kernel's files of control groups, and the pods' logs, belong to root; not a single capability is needed.
HEALTHCHECK --start-period=10s CMD ["synergy-node-agent", "--check-health"]
ENTRYPOINT ["synergy-node-agent"]

FROM runtime AS deviceplugin
LABEL org.opencontainers.image.title="synergy-device-plugin" \
      org.opencontainers.image.description="GPUs for the kubelet"
USER 0:0
RUN apt-get -qq update && \
    DEBIAN_FRONTEND=noninteractive apt-get -qq install --yes --no-install-recommends libgrpc++1.51 libprotobuf-lite32 libc-ares2 >/dev/null && \
    rm -rf /var/lib/apt/lists/* /var/cache/apt/* /var/cache/debconf/*-old /var/cache/ldconfig/* /var/log/*
COPY --from=programs /synergy/programs/synergy-device-plugin /usr/local/bin/
RUN ["synergy-device-plugin", "--version"]
# The kubelet's sockets belong to root; not a single capability is needed.
HEALTHCHECK --start-period=10s CMD ["synergy-device-plugin", "--check-health"]
ENTRYPOINT ["synergy-device-plugin"]

FROM runtime AS cli
LABEL org.opencontainers.image.title="synergy" \
      org.opencontainers.image.description="Synergy's command line"
USER 0:0
RUN apt-get -qq update && \
    DEBIAN_FRONTEND=noninteractive apt-get -qq install --yes --no-install-recommends libre2-9 >/dev/null && \
    rm -rf /var/lib/apt/lists/* /var/cache/apt/* /var/cache/debconf/*-old /var/cache/ldconfig/* /var/log/*
USER 65532:65532
COPY --from=programs /synergy/programs/synergy /usr/local/bin/
RUN ["synergy", "--version"]
ENTRYPOINT ["synergy"]
