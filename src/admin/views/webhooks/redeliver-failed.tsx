import { useDesk } from '../../parts/desk.tsx'
import { TextField } from '../../parts/field.tsx'
import { FormDialog, type Values } from '../../parts/form.tsx'
import { fromLocalInput, toLocalInput } from '../../parts/moment.tsx'
import { useServer } from '../../server/server.ts'
import { texts } from '../../texts.ts'

const { webhooks } = texts

interface RedeliverFailedProps {
  webhook: number
  onDone: () => void
  close: () => void
}

const dayMs = 86_400_000

/** Sends again what has failed since a time. */
export function RedeliverFailed({ webhook, onDone, close }: RedeliverFailedProps) {
  const server = useServer()
  const desk = useDesk()
  const send = async (values: Values) => {
    const since = fromLocalInput(values.text('since')) ?? null
    const { count } = await server.post<{ count: number }>(`/webhooks/${webhook}/redeliver`, {
      status: 'failure',
      since,
    })
    desk.notify(webhooks.redelivered(count))
    onDone()
  }
  const yesterday = toLocalInput(new Date(Date.now() - dayMs).toISOString())
  return (
    <FormDialog title={webhooks.redeliverFailed} submit={webhooks.redeliver} close={close} onSubmit={send}>
      <p>{webhooks.redeliverHint}</p>
      <TextField name="since" label={webhooks.since} type="datetime-local" value={yesterday} />
    </FormDialog>
  )
}
