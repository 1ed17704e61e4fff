import { StartFault } from '../lib/errors.ts'

/**
 * Codes of PostgreSQL (SQLSTATE) and of connections for a temporary failure. Class 08: connections; 57P: shutdown;
 * 25P03: idle in transaction for too long; 3D000: the database is not there, as while it is being restored; 40P01, 40001: conflicts with others; 57014, 55P03: cancelled or waited too
 * long.
 */
const unavailable =
  /^(08...|57P..|25P03|3D000|40P01|40001|57014|55P03|53...|CONNECTION_\w+|CONNECT_TIMEOUT|ECONN\w+|E\w+UNREACH|ENOENT|ENOTFOUND|EAI_AGAIN|EPIPE|ETIMEDOUT)$/

/** The disk or the process is out of room, or writing is not allowed for now. */
const full = /^(ENOSPC|EDQUOT|EROFS|EMFILE|ENFILE)$/

/** File system calls share these codes of Node; only these system calls mean a connection. */
const connectionCalls = new Set(['connect', 'read', 'write', 'getaddrinfo'])

interface Failure {
  name?: unknown
  code?: unknown
  syscall?: unknown
  $metadata?: { httpStatusCode?: number }
}

/**
 * True where the database or the store of bytes was unreachable, gave up or is full, or a process could not be started:
 * the same request may succeed later.
 */
export function isUnavailable(error: unknown): boolean {
  const { name, code, syscall, $metadata } = Object(error) as Failure
  // The client of the store reports both a timeout and the store's own answer without a code.
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

/**
 * True where PostgreSQL could not be reached, or broke off, perhaps as the cause of another error. The rest of what
 * `isUnavailable` knows, such as a full disk, is not told here.
 */
export function isInterruption(error: unknown): boolean {
  for (let each = error; each instanceof Error && !(each instanceof StartFault); each = each.cause) {
    const { code, syscall } = each as Failure
    const isOfConnection = syscall === undefined || connectionCalls.has(syscall as string)
    if (typeof code === 'string' && unavailable.test(code) && isOfConnection) return true
  }
  return false
}
