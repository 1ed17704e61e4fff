import { setTimeout as delay } from 'node:timers/promises'
import { median, type Measurement } from '../figures.ts'
import { measureParts, toCosts } from '../measure.ts'
import { SlowReceiver } from '../receiver.ts'
import type { Scenario, Stage } from '../stage.ts'
import { smallRooms, toCompany } from '../traffic.ts'
import { readUsage, usageBetween } from '../usage.ts'

const answerMs = 200

/** Messages a second: more than is to be delivered, so that there is always something to deliver. */
const perSecond = 60

/**
 * How many deliveries a second does a slow receiver get? Events of one room come to it one after the other, those of
 * different rooms need not. What counts is what arrives while more is written than that.
 */
export const webhooks: Scenario = {
  name: 'webhooks',
  question: 'How many deliveries a second does a webhook get that takes 200 ms for each, from 50 rooms?',
  figure: 'deliveries that were answered a second',
  needs: { rooms: smallRooms },
  seconds: 15,
  rounds: 1,

  async run(stage) {
    const measurements: Measurement[] = []
    for (let round = 0; round < stage.rounds; round++) {
      measurements.push(await deliver(stage))
      stage.say(`${measurements.at(-1)!.perSecond!.toFixed(1)} deliveries a second`)
    }
    const value = median(measurements.map(one => one.perSecond!))
    return {
      measurements,
      targets: [{ name: 'deliveries a second', value, bound: 'at least', limit: 35, unit: '' }],
      notes: [
        `${perSecond} messages a second are written meanwhile. The pace of a receiver is as a new installation has it.`,
      ],
    }
  },
}

async function deliver(stage: Stage): Promise<Measurement> {
  const { parley, load } = stage
  const receiver = await SlowReceiver.start(answerMs)
  const body = { payload_url: receiver.url, triggers: ['messages'] }
  const { id } = JSON.parse(await parley.call('POST', '/api/webhooks', body)) as { id: string }
  try {
    const measured = { ...parley.processes, load: load.pid }
    const described = { label: `Parley, ${answerMs} ms each`, subject: 'parley', unit: 'deliveries' } as const
    // What is written in the first part is not counted: deliveries come into their pace.
    const written = measureParts(stage, described, { connections: toCompany(stage.rooms.rooms!), perSecond })
    await Promise.race([delay(stage.seconds * 250), written])
    const startedAt = performance.now()
    const before = readUsage(measured)
    const first = receiver.answered
    const { measurement } = await written
    const count = receiver.answered - first
    const usage = usageBetween(before, readUsage(measured))
    return {
      ...measurement,
      perSecond: count / ((performance.now() - startedAt) / 1000),
      // Of a delivery, with the message that it is about.
      ...toCosts(usage, null, count, false),
      rssMiB: measurement.rssMiB,
    }
  } finally {
    await parley.call('DELETE', `/api/webhooks/${id}`)
    await receiver.stop()
  }
}
