import type { triggers } from '../../../resources/webhooks/schema.ts'
import { useDesk } from '../../parts/desk.tsx'
import { CheckField, ChecksField, TextField } from '../../parts/field.tsx'
import { FormDialog, type DialogProps, type Values } from '../../parts/form.tsx'
import { fromLocalInput, toLocalInput } from '../../parts/moment.tsx'
import { SecretDialog } from '../../parts/secret.tsx'
import { maskUrl, unmaskUrl } from '../../parts/url.ts'
import { useServer } from '../../server/server.ts'
import type { Webhook } from '../../server/shapes.ts'
import { texts } from '../../texts.ts'

const { webhooks } = texts

/** What webhooks can be told about: exactly what the server has, which the compiler sees to. */
const choices = Object.keys({
  agents: 1,
  apps: 1,
  audit: 1,
  comments: 1,
  files: 1,
  messages: 1,
  notifications: 1,
  polls: 1,
  posts: 1,
  reactions: 1,
} satisfies Record<(typeof triggers)[number], 1>).map(value => ({ value, title: value }))

/** Changes where a webhook is and what it is told, or registers one; its secret is shown this once. */
export function EditWebhook({ of: webhook, onDone }: DialogProps & { of?: Webhook }) {
  const server = useServer()
  const desk = useDesk()
  const isNew = webhook === undefined
  const save = async (values: Values) => {
    const body = toBody(values, webhook)
    const secret = isNew && values.isOn('is_signed') ? newSecret() : null
    if (isNew) await server.post('/webhooks', { ...body, secret })
    else await server.patch(`/webhooks/${webhook.id}`, body)
    onDone()
    if (secret === null) return isNew ? webhooks.createdNotice : webhooks.savedNotice
    desk.open(<SecretDialog title={webhooks.secret} text={webhooks.secretHint} value={secret} />)
  }
  return (
    <FormDialog
      title={isNew ? webhooks.create : webhooks.edit}
      submit={isNew ? webhooks.create : texts.save}
      onSubmit={save}
    >
      <TextField
        name="payload_url"
        label={webhooks.url}
        type="url"
        placeholder="https://"
        value={webhook && maskUrl(webhook.payload_url)}
        isRequired
      />
      <ChecksField name="triggers" label={webhooks.triggers} choices={choices} value={webhook?.triggers ?? []} />
      <TextField
        name="retries"
        label={webhooks.retries}
        type="number"
        hint={webhooks.retriesHint}
        value={String(webhook?.retries ?? 5)}
      />
      <CheckField name="is_enabled" label={webhooks.enabled} isOn={webhook?.is_enabled ?? true} />
      {isNew && <CheckField name="is_signed" label={webhooks.isSigned} hint={webhooks.isSignedHint} isOn />}
    </FormDialog>
  )
}

function toBody(values: Values, before?: Webhook) {
  const url = values.text('payload_url')
  return {
    payload_url: before === undefined ? url : unmaskUrl(url, before.payload_url),
    triggers: values.all('triggers'),
    retries: Number(values.text('retries')),
    is_enabled: values.isOn('is_enabled'),
  }
}

/** 32 random bytes in base64, in the form of Standard Webhooks. */
function newSecret(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(32))
  return `whsec_${btoa(String.fromCodePoint(...bytes))}`
}

const dayMs = 86_400_000

/** Sends again what has failed since a time. */
export function RedeliverFailed({ webhook, onDone }: DialogProps & { webhook: number }) {
  const server = useServer()
  const send = async (values: Values) => {
    const since = fromLocalInput(values.text('since')) ?? null
    const { count } = await server.post<{ count: number }>(`/webhooks/${webhook}/redeliver`, {
      status: 'failure',
      since,
    })
    onDone()
    return webhooks.redelivered(count)
  }
  const yesterday = toLocalInput(new Date(Date.now() - dayMs).toISOString())
  return (
    <FormDialog title={webhooks.redeliverFailed} submit={webhooks.redeliver} onSubmit={send}>
      <p>{webhooks.redeliverHint}</p>
      <TextField name="since" label={webhooks.since} type="datetime-local" value={yesterday} />
    </FormDialog>
  )
}
