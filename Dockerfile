# Parley with its own PostgreSQL in one container; docs/operations.md says how to run it.
FROM node:22-bookworm-slim
RUN useradd --system --create-home parley && mkdir /data && chown parley /data
WORKDIR /opt/parley
COPY . .
RUN npm ci --omit=dev
# PostgreSQL does not run as root.
USER parley
ENV DATA_DIR=/data
VOLUME /data
EXPOSE 8080
HEALTHCHECK CMD ["node", "-e", "fetch('http://127.0.0.1:8080/live').then(r => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
CMD ["npm", "start"]
