import { AskButton } from '../../parts/ask-button.tsx'
import { Badge } from '../../parts/badge.tsx'
import { Card } from '../../parts/card.tsx'
import { Confirm } from '../../parts/confirm.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Empty, Table, type Column } from '../../parts/table.tsx'
import { useServer } from '../../server/server.ts'
import type { AgentFunction } from '../../server/shapes.ts'
import { useResource } from '../../server/use-resource.ts'
import { texts } from '../../texts.ts'
import { EditFunction } from './function-dialog.tsx'

const { agents } = texts

/** The endpoints that an agent may call. */
export function AgentFunctions({ id }: { id: string }) {
  const server = useServer()
  const path = `/agents/${id}/functions`
  const functions = useResource<AgentFunction[]>(path)
  const columns: Column<AgentFunction>[] = [
    { title: agents.functionName, isName: true, show: ({ name }) => <code>{name}</code> },
    {
      title: agents.endpoint,
      show: ({ method, url }) => (
        <>
          <Badge>{method}</Badge> <code>{url}</code>
        </>
      ),
    },
    { title: agents.description, show: ({ description }) => <span class="small plain">{description}</span> },
    {
      title: texts.list.actions,
      isActions: true,
      show: of => (
        <div class="actions">
          <AskButton isSmall ask={close => <EditFunction {...{ path, of, close }} onDone={functions.reload} />}>
            {texts.edit}
          </AskButton>
          <AskButton
            isSmall
            isDangerous
            ask={close => (
              <Confirm
                title={agents.removeFunction}
                text={agents.removeFunctionHint}
                submit={texts.remove}
                typed={{ name: of.name, otherwise: of.name }}
                close={close}
                onConfirm={async () => {
                  await server.remove(`${path}/${encodeURIComponent(of.name)}`)
                  functions.reload()
                }}
              />
            )}
          >
            {texts.remove}
          </AskButton>
        </div>
      ),
    },
  ]
  return (
    <Card
      title={agents.functions}
      actions={
        <AskButton ask={close => <EditFunction {...{ path, close }} onDone={functions.reload} />}>
          <Icon name="plus" />
          {agents.addFunction}
        </AskButton>
      }
    >
      <Loaded of={functions}>
        {rows =>
          rows.length === 0 ? (
            <Empty text={agents.noFunctions} />
          ) : (
            <Table label={agents.functions} columns={columns} rows={rows} keyOf={({ name }) => name} />
          )
        }
      </Loaded>
    </Card>
  )
}
