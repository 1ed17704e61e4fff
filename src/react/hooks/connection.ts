import { useCallback, useSyncExternalStore } from 'react'
import type { ConnectionStatus, ParleyError, Status } from '@parley/client'
import { useParley } from './context.tsx'

const idle: ConnectionStatus = { state: 'idle' }

const statuses: Record<ConnectionStatus['state'], Status> = {
  idle: 'loading',
  connecting: 'loading',
  connected: 'live',
  waiting: 'stale',
  closed: 'ended',
}

/** The state of the one connection. */
export function useConnection(): { data: ConnectionStatus; status: Status; error: ParleyError | undefined } {
  const { connection } = useParley()
  const subscribe = useCallback((listener: () => void) => connection.subscribe(listener), [connection])
  const data = useSyncExternalStore(subscribe, connection.get, () => idle)
  return { data, status: statuses[data.state], error: 'error' in data ? data.error : undefined }
}
