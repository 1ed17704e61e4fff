import { ActButton } from '../../parts/act-button.tsx'
import { AskButton } from '../../parts/ask-button.tsx'
import { Confirm } from '../../parts/confirm.tsx'
import { useDesk } from '../../parts/desk.tsx'
import { nameOf } from '../../parts/names.tsx'
import { useServer } from '../../server/server.ts'
import type { Agent } from '../../server/shapes.ts'
import { usePlace } from '../../place.tsx'
import { texts } from '../../texts.ts'

const { agents } = texts

/** What can be done with an agent. */
export function AgentActions({ of: agent, onDone }: { of: Agent; onDone: () => void }) {
  const server = useServer()
  const desk = useDesk()
  const { go } = usePlace()
  const path = `/agents/${agent.id}`
  const typed = { name: nameOf(agent), otherwise: agent.uid ?? String(agent.id) }
  const restore = async () => {
    await server.post(`${path}/restore`)
    onDone()
    return agents.restoredNotice
  }
  const trash = async () => {
    await server.post(`${path}/trash`)
    desk.notify(agents.trashedNotice)
    onDone()
  }
  const remove = async () => {
    await server.remove(path)
    desk.notify(agents.deletedNotice)
    go('/agents')
  }
  return (
    <>
      {agent.is_trashed ? (
        <ActButton act={restore}>{texts.restore}</ActButton>
      ) : (
        <AskButton
          ask={close => (
            <Confirm
              title={agents.trash}
              text={agents.trashHint}
              submit={texts.trash}
              onConfirm={trash}
              close={close}
            />
          )}
        >
          {texts.trash}
        </AskButton>
      )}
      <AskButton
        isDangerous
        ask={close => (
          <Confirm
            title={agents.remove}
            text={agents.removeHint}
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
