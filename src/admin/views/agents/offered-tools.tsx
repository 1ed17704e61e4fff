import { Badge } from '../../parts/badge.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Empty } from '../../parts/table.tsx'
import type { OfferedTool } from '../../server/shapes.ts'
import { useResource } from '../../server/use-resource.ts'
import { texts } from '../../texts.ts'

const { agents } = texts

/** The tools that a server has now, whether the agent may use them or not. The server is asked when this opens. */
export function OfferedTools({ path, close }: { path: string; close: () => void }) {
  const tools = useResource<OfferedTool[]>(path)
  return (
    <Dialog title={agents.offered} onClose={close}>
      <Loaded of={tools} rows={3}>
        {list =>
          list.length === 0 ? (
            <Empty text={agents.noTools} />
          ) : (
            <ul class="tools">
              {list.map(({ name, title, description, is_allowed, input_schema }) => (
                <li key={name}>
                  <div class="badges">
                    <code>{name}</code>
                    {title !== undefined && <span>{title}</span>}
                    {!is_allowed && <Badge tone="warn">{agents.notAllowed}</Badge>}
                  </div>
                  <p class="small plain">{description}</p>
                  <details>
                    <summary class="small">{agents.parameters}</summary>
                    <pre>{JSON.stringify(input_schema, null, 2)}</pre>
                  </details>
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
    </Dialog>
  )
}
