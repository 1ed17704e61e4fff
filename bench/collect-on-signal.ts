/** Imported by a server that is measured: SIGUSR2 collects garbage, so that memory shows what is held, not what was. */
process.on('SIGUSR2', () => globalThis.gc?.())
