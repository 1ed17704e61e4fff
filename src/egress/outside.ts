import { ipCheck } from './ip-policy.ts'
import { Egress } from './egress.ts'
import { askNameServers } from './name-servers.ts'

export interface OutsideSettings {
  version: string
  /** Ranges of addresses that may be reached beyond public ones. */
  allow: readonly string[]
  /** Default: the system's. */
  nameServers?: readonly string[]
}

/** Sends requests to public addresses of the internet, within limits. */
export type Outside = Pick<Egress, 'send'>

/** The client for URLs that users name: pictures, pages of links. Only public addresses can be reached. */
export function openOutside({ version, allow, nameServers }: OutsideSettings): Outside {
  const egress = new Egress({
    isAllowed: ipCheck({ allowsPrivate: false, allow }),
    resolve: askNameServers(nameServers),
  })
  return {
    send: request =>
      egress.send({ ...request, headers: { 'user-agent': `ServiceBot/${version}`, ...request.headers } }),
  }
}
