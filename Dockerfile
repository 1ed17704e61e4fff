# Parley with its own PostgreSQL in one container; docs/operations.md says how to run it.
FROM node:22-bookworm-slim AS build
WORKDIR /opt/parley
# What is installed comes before the code, so that a change of the code alone installs nothing anew.
COPY package.json package-lock.json ./
COPY src/client/package.json src/client/
COPY src/react/package.json src/react/
COPY test/typed-client/package.json test/typed-client/
COPY src/postgres/driver src/postgres/driver
RUN npm ci --omit=dev --no-audit --no-fund
# npm brings the Node.js of package.json: its executable is all that is needed of it, and one of the 24 of uWebSockets.js.
RUN node=node_modules/node/bin/node \
 && wanted=uws_linux_$($node -p 'process.arch + "_" + process.versions.modules').node \
 && cd node_modules && test -f uWebSockets.js/dist/bin/$wanted \
 && find uWebSockets.js/dist/bin -type f ! -name $wanted -delete \
 && rm -r node/node_modules
COPY LICENSE CHANGELOG.md CONTRIBUTING.md SECURITY.md ./
COPY docs docs
COPY src src

FROM debian:bookworm-slim
# PostgreSQL does not run as root.
RUN useradd --system --create-home parley && install -d -o parley -g parley -m 700 /data
WORKDIR /opt/parley
COPY --from=build /opt/parley .
ENV PATH=/opt/parley/node_modules/.bin:$PATH DATA_DIR=/data
USER parley
VOLUME /data
EXPOSE 8080
HEALTHCHECK CMD ["node", "-e", "fetch('http://127.0.0.1:8080/live').then(r => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "--disable-warning=ExperimentalWarning", "--max-semi-space-size=64", "--no-allocation-site-pretenuring", "--heap-growing-percent=300", "--invocation-count-for-turbofan=600", "src/main.ts"]
