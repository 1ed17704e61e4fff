import { ActButton, ConfirmButton } from '../../parts/buttons.tsx'
import { useServer } from '../../server/server.ts'
import { texts } from '../../texts.ts'

const { apps } = texts

interface ItemActionsProps {
  /** Of the item, in the API. */
  path: string
  id: number
  isTrashed: boolean
  onDone: () => void
}

/** What can be done with a message, post, comment or file. */
export function ItemActions({ path, id, isTrashed, onDone }: ItemActionsProps) {
  const server = useServer()
  const verb = isTrashed ? 'restore' : 'trash'
  const move = async () => {
    await server.post(`${path}/${verb}`)
    onDone()
    return isTrashed ? apps.itemRestoredNotice : apps.itemTrashedNotice
  }
  const remove = async () => {
    await server.remove(path)
    onDone()
    return apps.itemDeletedNotice
  }
  return (
    <>
      <ActButton isSmall act={move}>
        {texts[verb]}
      </ActButton>
      <ConfirmButton
        isSmall
        isDangerous
        title={apps.removeItem(id)}
        text={apps.removeItemHint}
        submit={texts.remove}
        typed={{ name: String(id), otherwise: String(id) }}
        onConfirm={remove}
      />
    </>
  )
}
