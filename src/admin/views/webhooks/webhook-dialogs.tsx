import { triggers } from '../../server/constants.ts'
import { useDesk } from '../../parts/desk.tsx'
import { CheckField, ChecksField, TextField } from '../../parts/field.tsx'
import { FormDialog, type Values } from '../../parts/form.tsx'
import { SecretDialog } from '../../parts/secret.tsx'
import { maskUrl, unmaskUrl } from '../../parts/url.ts'
import { useServer } from '../../server/server.ts'
import type { Webhook } from '../../server/shapes.ts'
import { texts } from '../../texts.ts'

const { webhooks } = texts

interface DialogProps {
  onDone: () => void
  close: () => void
}

/** Registers a webhook, with a secret of its own, which is shown this once. */
export function CreateWebhook({ onDone, close }: DialogProps) {
  const server = useServer()
  const desk = useDesk()
  const create = async (values: Values) => {
    const secret = values.isOn('is_signed') ? newSecret() : null
    await server.post<Webhook>('/webhooks', { ...toBody(values), secret })
    onDone()
    if (secret === null) desk.notify(webhooks.createdNotice)
    else
      desk.open(shut => <SecretDialog title={webhooks.secret} text={webhooks.secretHint} value={secret} close={shut} />)
  }
  return (
    <FormDialog title={webhooks.create} submit={webhooks.create} close={close} onSubmit={create}>
      <Fields />
      <CheckField name="is_signed" label={webhooks.isSigned} hint={webhooks.isSignedHint} isOn />
    </FormDialog>
  )
}

/** Changes where a webhook is, and what it is told. */
export function EditWebhook({ of: webhook, onDone, close }: DialogProps & { of: Webhook }) {
  const server = useServer()
  const desk = useDesk()
  const save = async (values: Values) => {
    await server.patch(`/webhooks/${webhook.id}`, toBody(values, webhook))
    desk.notify(webhooks.savedNotice)
    onDone()
  }
  return (
    <FormDialog title={webhooks.edit} submit={texts.save} close={close} onSubmit={save}>
      <Fields of={webhook} />
    </FormDialog>
  )
}

function Fields({ of: webhook }: { of?: Webhook }) {
  const choices = triggers.map(value => ({ value, title: value }))
  return (
    <>
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
    </>
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
