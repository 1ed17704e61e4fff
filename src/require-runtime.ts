import { findRuntimeFault } from './postgres/driver/runtime.ts'

// Imported before everything else, and the one module that acts when it is imported: what comes next loads native code,
// which ends in a stack trace where it does not fit this Node.js.
const fault = findRuntimeFault()
if (fault !== null) {
  process.stderr.write(`${fault}\n`)
  process.exit(1)
}
