import type { Call } from '../history.ts'

/** It was acknowledged. */
export const isDone = ({ status }: Call): boolean => status !== null && status < 300

/**
 * Nobody knows whether it was done, or will be yet: without an answer, it may still be on its way; a node that has lost
 * PostgreSQL in the middle of a commit says 503, and the commit may come through later.
 */
export const isUnknown = ({ status }: Call): boolean => status === null || status >= 500
