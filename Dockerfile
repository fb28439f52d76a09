# Ravel on a slim Debian with a JDK. Built from a release archive, which scripts/dist.sh writes:
#
#   make dist && docker build -t ravel .
#   docker run --rm -v "$PWD":/work ravel run -- java -cp classes shop.Shop
FROM debian:bookworm-slim
RUN apt-get update \
    && apt-get install -y --no-install-recommends openjdk-17-jdk-headless \
    && rm -rf /var/lib/apt/lists/*
ADD target/release-files/ravel-*-x86_64-unknown-linux-musl.tar.gz /tmp/
RUN cp -a /tmp/ravel-*/bin /tmp/ravel-*/share /usr/local/ && rm -r /tmp/ravel-* && ravel --version
WORKDIR /work
ENTRYPOINT ["ravel"]
