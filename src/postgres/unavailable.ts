/**
 * Codes of PostgreSQL and of connections that say: not now. Class 08 is about connections, 57P about shutting down, 25P03
 * ends a transaction in which nothing happened for too long, 40P01 and 40001 one that was in the way of others,
 * 57014 and 55P03 what took or waited too long.
 */
const unavailable =
  /^(08...|57P..|25P03|40P01|40001|57014|55P03|53...|CONNECTION_\w+|CONNECT_TIMEOUT|ECONN\w+|E\w+UNREACH|ENOENT|ENOTFOUND|EAI_AGAIN|EPIPE|ETIMEDOUT)$/

/** The disk or the process has no room, or may not write now. */
const full = /^(ENOSPC|EDQUOT|EROFS|EMFILE|ENFILE)$/

/** Node's codes come from the file system as well: these are the calls that mean a connection. */
const connectionCalls = new Set(['connect', 'read', 'write', 'getaddrinfo'])

interface Failure {
  name?: unknown
  code?: unknown
  syscall?: unknown
  $metadata?: { httpStatusCode?: number }
}

/**
 * True where the database or the store of bytes could not be asked, gave up, or has no room, or a process could not be
 * started: the same request may well succeed later.
 */
export function isUnavailable(error: unknown): boolean {
  const { name, code, syscall, $metadata } = Object(error) as Failure
  // The store's client says both so, without a code: that it waited in vain, and what the store answered.
  if (name === 'TimeoutError') return true
  const status = $metadata?.httpStatusCode ?? 0
  if (status >= 500 || status === 429) return true
  if (String(syscall).startsWith('spawn')) return true
  if (typeof code !== 'string') return false
  if (full.test(code)) return true
  if (!unavailable.test(code)) return false
  // Codes of postgres.js and PostgreSQL name no system call.
  return syscall === undefined || connectionCalls.has(syscall as string)
}
