# Synergy's images, one target for each program: extender, controller, deviceplugin, nodeagent, cli.
#
#   docker build --target extender --tag synergy/extender:0.1.0 .
#
# Kubernetes has probes of its own and passes HEALTHCHECK over. Where a program is given flags, the check needs the same ones.
#
# The programs are built inside (PROGRAMS=source), or taken from the folder programs/ of the build context
# (PROGRAMS=prebuilt): scripts/images.sh makes such a context of build/release/bin, or of what scripts/cross.sh built. What
# follows is the same either way. Each image holds its program, the libraries that this one needs and dpkg's status of their
# packages, for scanners; no shell and no package manager. Each program runs once: an image that lacks a library is not made.
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

# The libraries of all programs: Debian's packages.
FROM ${BASE} AS libraries
RUN apt-get -qq update && \
    DEBIAN_FRONTEND=noninteractive apt-get -qq install --yes --no-install-recommends \
      libssl3 libfmt9 libyaml-cpp0.7 libcpp-httplib0.11 libbrotli1 libprometheus-cpp-core1.0 libabsl20220623 libre2-9 \
      coinor-libcbc3 coinor-libclp1 libgrpc++1.51 libprotobuf-lite32 libc-ares2 >/dev/null

FROM libraries AS files
COPY --from=programs /synergy/scripts/image-files.sh /
COPY --from=programs /synergy/programs/ /usr/local/bin/
RUN cd /usr/local/bin && for program in synergy*; do \
      sh /image-files.sh "$program" "/images/$program" && chroot "/images/$program" "/usr/local/bin/$program" --version || exit; \
    done

# What all images have.
FROM scratch AS program
LABEL org.opencontainers.image.vendor="Synergy for Kubernetes" \
      org.opencontainers.image.licenses="Apache-2.0"
ENV PATH=/usr/local/bin

FROM program AS extender
LABEL org.opencontainers.image.title="synergy-extender" \
      org.opencontainers.image.description="kube-scheduler's extender for GPU pods"
COPY --from=files /images/synergy-extender /
USER 65532:65532
HEALTHCHECK --start-period=10s CMD ["synergy-extender", "--check-health"]
ENTRYPOINT ["synergy-extender"]

FROM program AS controller
LABEL org.opencontainers.image.title="synergy-controller" \
      org.opencontainers.image.description="Admission webhook, profiles and tuner"
COPY --from=files /images/synergy-controller /
USER 65532:65532
HEALTHCHECK --start-period=10s CMD ["synergy-controller", "--check-health"]
ENTRYPOINT ["synergy-controller"]

FROM program AS nodeagent
LABEL org.opencontainers.image.title="synergy-node-agent" \
      org.opencontainers.image.description="Keeps page cache to its shares, and measures the progress of trainings"
COPY --from=files /images/synergy-node-agent /
# The kernel's files of control groups, and the pods' logs, belong to root; not a single capability is needed.
USER 0:0
HEALTHCHECK --start-period=10s CMD ["synergy-node-agent", "--check-health"]
ENTRYPOINT ["synergy-node-agent"]

FROM program AS deviceplugin
LABEL org.opencontainers.image.title="synergy-device-plugin" \
      org.opencontainers.image.description="GPUs for the kubelet"
COPY --from=files /images/synergy-device-plugin /
# The kubelet's sockets belong to root; not a single capability is needed.
USER 0:0
HEALTHCHECK --start-period=10s CMD ["synergy-device-plugin", "--check-health"]
ENTRYPOINT ["synergy-device-plugin"]

FROM program AS cli
LABEL org.opencontainers.image.title="synergy" \
      org.opencontainers.image.description="Synergy's command line"
COPY --from=files /images/synergy /
USER 65532:65532
ENTRYPOINT ["synergy"]
