import { usePlace } from '../place.tsx'
import { useServer } from '../server/server.ts'
import { texts } from '../texts.ts'
import { ActButton, ConfirmButton } from './buttons.tsx'
import { nameOf } from './names.tsx'

interface TrashActionsProps {
  of: Parameters<typeof nameOf>[0] & { id: number; is_trashed: boolean }
  /** Where its like are listed: in the API, and among the views. */
  list: `/${string}`
  texts: {
    trash: string
    trashHint: string
    trashedNotice: string
    restoredNotice: string
    remove: string
    removeHint: string
    deletedNotice: string
  }
  onDone: () => void
}

/** Moves something with a name into the trash and out of it, or deletes it for good. */
export function TrashActions({ of: row, list, texts: own, onDone }: TrashActionsProps) {
  const server = useServer()
  const { go } = usePlace()
  const path = `${list}/${row.id}`
  const restore = async () => {
    await server.post(`${path}/restore`)
    onDone()
    return own.restoredNotice
  }
  const trash = async () => {
    await server.post(`${path}/trash`)
    onDone()
    return own.trashedNotice
  }
  const remove = async () => {
    await server.remove(path)
    go(list)
    return own.deletedNotice
  }
  return (
    <>
      {row.is_trashed ? (
        <ActButton act={restore}>{texts.restore}</ActButton>
      ) : (
        <ConfirmButton title={own.trash} text={own.trashHint} submit={texts.trash} onConfirm={trash} />
      )}
      <ConfirmButton
        isDangerous
        title={own.remove}
        text={own.removeHint}
        submit={texts.remove}
        typed={{ name: nameOf(row), otherwise: row.uid ?? String(row.id) }}
        onConfirm={remove}
      />
    </>
  )
}
