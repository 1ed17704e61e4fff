import { acknowledge, startReceiver, type Receiver } from '../support/receiver.ts'
import type { Recorder } from './recorder.ts'

/** A receiver of webhooks that answers at once and notes what it gets. */
export async function startNotingReceiver(name: string, recorder: Recorder): Promise<Receiver> {
  return await startReceiver((request, response) => {
    const { id, action, message, app } = JSON.parse(request.body)
    recorder.deliveries.push({
      at: recorder.now(),
      receiver: name,
      guid: String(request.headers['x-service-delivery']),
      app: Number((message?.app ?? app).id),
      rev: Number(id),
      action,
    })
    acknowledge(request, response)
  })
}
