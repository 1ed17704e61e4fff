import { AskButton } from '../../parts/ask-button.tsx'
import { ConfirmButton } from '../../parts/confirm-button.tsx'
import { useDesk } from '../../parts/desk.tsx'
import { TrashActions } from '../../parts/trash-actions.tsx'
import { useServer } from '../../server/server.ts'
import type { User } from '../../server/shapes.ts'
import { texts } from '../../texts.ts'
import { EditUser } from './user-dialogs.tsx'

const { users } = texts

/** What can be done with a user. */
export function UserActions({ of: user, onDone }: { of: User; onDone: () => void }) {
  const server = useServer()
  const desk = useDesk()
  const revoke = async () => {
    await server.remove(`/users/${user.id}/tokens`)
    desk.notify(users.tokensNotice)
    onDone()
  }
  return (
    <>
      <AskButton ask={close => <EditUser of={user} onDone={onDone} close={close} />}>{texts.edit}</AskButton>
      <ConfirmButton title={users.revokeTokens} text={users.revokeHint} submit={users.revokeTokens} onConfirm={revoke}>
        {users.revokeTokens}
      </ConfirmButton>
      <TrashActions of={user} list="/users" texts={users} onDone={onDone} />
    </>
  )
}
