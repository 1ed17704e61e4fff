export { createFaultProxy, type FaultProxy } from './proxy.ts'
export { expectSame, findDifferences, findPersonalDifferences } from './same.ts'
export { watchRows } from './watch.ts'
