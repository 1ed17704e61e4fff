import { ipCheck } from './ip-policy.ts'
import { Egress } from './egress.ts'
import { askNameServers } from './name-servers.ts'

export interface OutsideSettings {
  version: string
  /** Ranges of addresses that may be reached beyond public ones. */
  allow: readonly string[]
  /** Those of the system by default. */
  nameServers?: readonly string[]
}

/** Gets what is at public addresses of the internet, within bounds. */
export type Outside = Pick<Egress, 'send'>

/** The client for what users name: pictures, pages of links. Only public addresses can be reached. */
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
