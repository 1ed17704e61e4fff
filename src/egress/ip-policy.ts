import ipaddr from 'ipaddr.js'
import { isWithin, toCidr, type Address } from '../lib/address-ranges.ts'

/** Which addresses may be reached. Ranges are CIDRs: `10.0.0.0/8`, `fd00::/8`. */
export interface IpPolicy {
  /** Private, loopback, unique local and carrier-grade NAT addresses may be reached as well as public ones. */
  allowsPrivate: boolean
  /** Ranges that may be reached in any case: opens what is closed otherwise, such as link-local addresses. */
  allow?: readonly string[]
  /** Ranges that may never be reached, also where `allow` names them. */
  deny?: readonly string[]
}

const privateRanges = new Set(['private', 'loopback', 'uniqueLocal', 'carrierGradeNat'])

/** All global unicast addresses of IPv6 there are so far; what lies elsewhere leads to IPv4 or nowhere. */
const globalUnicast = ipaddr.parseCIDR('2000::/3')

/**
 * Makes the check of one address, in any notation of IPv4 or IPv6. Never allowed unless named: link-local addresses
 * (where clouds keep credentials), unspecified, multicast and reserved ones, and the forms of IPv6 through which a
 * gateway reaches IPv4 (NAT64, 6to4, Teredo). IPv4-mapped addresses count as the IPv4 address. Throws for a bad range.
 */
export function ipCheck({ allowsPrivate, allow = [], deny = [] }: IpPolicy): (address: string) => boolean {
  const allowed = allow.map(toCidr)
  const denied = deny.map(toCidr)
  return text => {
    if (!ipaddr.isValid(text)) return false
    const address = ipaddr.process(text)
    if (denied.some(range => isWithin(address, range))) return false
    return isPublic(address) || (allowsPrivate && isPrivate(address)) || allowed.some(range => isWithin(address, range))
  }
}

function isPublic(address: Address): boolean {
  return address.range() === 'unicast' && (address.kind() === 'ipv4' || isWithin(address, globalUnicast))
}

function isPrivate(address: Address): boolean {
  return privateRanges.has(address.range())
}
