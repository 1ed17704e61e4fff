import { ActButton } from '../../parts/act-button.tsx'
import { ConfirmButton } from '../../parts/confirm-button.tsx'
import { useDesk } from '../../parts/desk.tsx'
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
  const desk = useDesk()
  const move = async (verb: 'trash' | 'restore') => {
    await server.post(`${path}/${verb}`)
    onDone()
    return verb === 'trash' ? apps.itemTrashedNotice : apps.itemRestoredNotice
  }
  const remove = async () => {
    await server.remove(path)
    desk.notify(apps.itemDeletedNotice)
    onDone()
  }
  return (
    <div class="actions">
      {isTrashed ? (
        <ActButton isSmall act={() => move('restore')}>
          {texts.restore}
        </ActButton>
      ) : (
        <ActButton isSmall act={() => move('trash')}>
          {texts.trash}
        </ActButton>
      )}
      <ConfirmButton
        isSmall
        isDangerous
        title={apps.removeItem(id)}
        text={apps.removeItemHint}
        submit={texts.remove}
        typed={{ name: String(id), otherwise: String(id) }}
        onConfirm={remove}
      >
        {texts.remove}
      </ConfirmButton>
    </div>
  )
}
