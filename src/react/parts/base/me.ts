import { useParley } from '../../hooks/context.tsx'
import { useConnection } from '../../hooks/connection.ts'
import { storeOf } from '../../hooks/store.ts'

/** The id of the user, once it is known. */
export function useMe(): number | undefined {
  const parley = useParley()
  const { data } = useConnection()
  const known = storeOf<{ id: number | undefined }>(parley, 'me', () => ({ id: undefined }))
  if (data.state === 'connected') known.id = data.user
  return known.id
}
