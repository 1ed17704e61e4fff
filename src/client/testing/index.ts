export { createFaultProxy, type FaultProxy } from './proxy.ts'
export { expectSame, findDifferences, findPersonalDifferences, type Compared } from './same.ts'
export { watchRows } from './watch.ts'
