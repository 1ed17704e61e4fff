import { ActButton, AskButton, ConfirmButton } from '../../parts/buttons.tsx'
import { useDesk } from '../../parts/desk.tsx'
import { SecretDialog } from '../../parts/secret.tsx'
import { maskUrl } from '../../parts/url.ts'
import { useServer } from '../../server/server.ts'
import type { Delivery, RotatedWebhook, Webhook } from '../../server/shapes.ts'
import { usePlace } from '../../place.tsx'
import { texts } from '../../texts.ts'
import { EditWebhook, RedeliverFailed } from './webhook-dialogs.tsx'

const { webhooks, deliveries } = texts

/** What can be done with a webhook. */
export function WebhookActions({ of: webhook, onDone }: { of: Webhook; onDone: () => void }) {
  const server = useServer()
  const desk = useDesk()
  const { go } = usePlace()
  const path = `/webhooks/${webhook.id}`
  const test = async () => {
    const { status, status_code } = await server.post<Delivery>(`${path}/test`)
    onDone()
    return status === 'success' ? deliveries.pinged(status_code ?? 0) : deliveries.notPinged(status_code)
  }
  const turn = async () => {
    await server.patch(path, { is_enabled: !webhook.is_enabled })
    onDone()
    return webhooks.savedNotice
  }
  const rotate = async () => {
    const { secret } = await server.post<RotatedWebhook>(`${path}/rotate`)
    desk.open(<SecretDialog title={webhooks.secret} text={webhooks.rotatedHint} value={secret} />)
  }
  const remove = async () => {
    await server.remove(path)
    go('/webhooks')
    return webhooks.deletedNotice
  }
  return (
    <>
      <ActButton isDisabled={!webhook.is_enabled} act={test}>
        {webhooks.test}
      </ActButton>
      <AskButton ask={<RedeliverFailed webhook={webhook.id} onDone={onDone} />}>{webhooks.redeliverFailed}</AskButton>
      <AskButton ask={<EditWebhook of={webhook} onDone={onDone} />}>{texts.edit}</AskButton>
      <ActButton act={turn}>{webhook.is_enabled ? webhooks.disable : webhooks.enable}</ActButton>
      <ConfirmButton title={webhooks.rotate} text={webhooks.rotateHint} submit={webhooks.rotate} onConfirm={rotate} />
      <ConfirmButton
        isDangerous
        title={webhooks.remove}
        text={webhooks.removeHint}
        submit={texts.remove}
        typed={{ name: maskUrl(webhook.payload_url), otherwise: String(webhook.id) }}
        onConfirm={remove}
      />
    </>
  )
}
