import type { EventType } from '../actors/event.ts'
import type { Route } from '../http/route.ts'

/** What a resource brings: its endpoints, and the events that its commands emit. */
export interface Resource {
  routes: Route[]
  events?: EventType<unknown>[]
}

export function resource(declared: Resource): Resource {
  return declared
}
