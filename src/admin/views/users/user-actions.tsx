import { ActButton } from '../../parts/act-button.tsx'
import { AskButton } from '../../parts/ask-button.tsx'
import { Confirm } from '../../parts/confirm.tsx'
import { useDesk } from '../../parts/desk.tsx'
import { nameOf } from '../../parts/names.tsx'
import { useServer } from '../../server/server.ts'
import type { User } from '../../server/shapes.ts'
import { usePlace } from '../../place.tsx'
import { texts } from '../../texts.ts'
import { EditUser } from './user-dialogs.tsx'

const { users } = texts

/** What can be done with a user. */
export function UserActions({ of: user, onDone }: { of: User; onDone: () => void }) {
  const server = useServer()
  const desk = useDesk()
  const { go } = usePlace()
  const path = `/users/${user.id}`
  const typed = { name: nameOf(user), otherwise: user.uid ?? String(user.id) }
  const restore = async () => {
    await server.post(`${path}/restore`)
    onDone()
    return users.restoredNotice
  }
  const done = (notice: string) => {
    desk.notify(notice)
    onDone()
  }
  const revoke = async () => {
    await server.remove(`${path}/tokens`)
    done(users.tokensNotice)
  }
  const trash = async () => {
    await server.post(`${path}/trash`)
    done(users.trashedNotice)
  }
  const remove = async () => {
    await server.remove(path)
    desk.notify(users.deletedNotice)
    go('/users')
  }
  return (
    <>
      <AskButton ask={close => <EditUser of={user} onDone={onDone} close={close} />}>{texts.edit}</AskButton>
      <AskButton
        ask={close => (
          <Confirm
            title={users.revokeTokens}
            text={users.revokeHint}
            submit={users.revokeTokens}
            onConfirm={revoke}
            close={close}
          />
        )}
      >
        {users.revokeTokens}
      </AskButton>
      {user.is_trashed ? (
        <ActButton act={restore}>{texts.restore}</ActButton>
      ) : (
        <AskButton
          ask={close => (
            <Confirm title={users.trash} text={users.trashHint} submit={texts.trash} onConfirm={trash} close={close} />
          )}
        >
          {texts.trash}
        </AskButton>
      )}
      <AskButton
        isDangerous
        ask={close => (
          <Confirm
            title={users.remove}
            text={users.removeHint}
            submit={texts.remove}
            {...{ typed, close }}
            onConfirm={remove}
          />
        )}
      >
        {texts.remove}
      </AskButton>
    </>
  )
}
