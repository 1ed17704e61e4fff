import { expect } from 'vitest'
import type { Body } from './client.ts'
import { eventually } from './eventually.ts'
import { joinHub, type HubClient } from './hub.ts'
import { listen, type Listener } from './realtime.ts'
import { startReceiver, type Receiver } from './receiver.ts'
import type { Person, Server } from './server.ts'
import { payloadOf, register } from './webhooks.ts'

/** What was told at each door, in the order in which it arrived there. */
export interface HeardAtDoors {
  native: Body[]
  hub: Body[]
  webhook: Body[]
}

interface DoorsParts {
  actions: string[]
  native: Listener
  hub: HubClient
  receiver: Receiver
  leave: () => Promise<unknown>
}

/**
 * Somebody who listens to an app at every door that the server has: the native protocol, the hub, and a webhook. Only
 * the actions named are waited for; other events of the app pass by.
 */
export class Doors implements AsyncDisposable {
  readonly #parts: DoorsParts

  private constructor(parts: DoorsParts) {
    this.#parts = parts
  }

  /** `triggers` are those of the webhook; a hub client names each action that it wants to hear of. */
  static async at(
    server: Server,
    { person, app, triggers, actions }: { person: Person; app: string; triggers: string[]; actions: string[] },
  ): Promise<Doors> {
    const receiver = await startReceiver()
    const { id } = await register(server, receiver.url, { triggers })
    const native = await listen(server.url, { token: person.token })
    expect((await native.subscribe(app)).type).toBe('subscribed')
    const hub = await joinHub(server.url, { token: () => person.token })
    for (const action of actions) expect(await hub.subscribe(`a${app}:${action}`)).toBe(true)
    return new Doors({ actions, native, hub, receiver, leave: () => server.admin.delete(`/api/webhooks/${id}`) })
  }

  /** Waits until the actions were told at every door, in this order, and nothing but these. */
  async hear(...actions: string[]): Promise<HeardAtDoors> {
    return await eventually(() => {
      const heard = this.#heard()
      for (const told of Object.values(heard)) expect(told.map(nameOf)).toEqual(actions)
      return heard
    })
  }

  #heard(): HeardAtDoors {
    const { actions, native, hub, receiver } = this.#parts
    const isWanted = (told: Body) => actions.includes(nameOf(told))
    return {
      native: native.frames.filter(({ type }) => type === 'event').filter(isWanted),
      hub: hub.told.map(({ payload }) => payload).filter(isWanted),
      webhook: receiver.requests.map(payloadOf).filter(isWanted),
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { native, hub, receiver, leave } = this.#parts
    await native[Symbol.asyncDispose]()
    await hub[Symbol.asyncDispose]()
    await leave()
    await receiver[Symbol.asyncDispose]()
  }
}

/** Native clients know it as the event, the others as the action. */
const nameOf = ({ event, action }: Body): string => event ?? action
