import ipaddr from 'ipaddr.js'
import { isWithin, toCidr, type Address } from '../lib/address-ranges.ts'

/** The addresses that may be reached. Ranges are CIDRs: `10.0.0.0/8`, `fd00::/8`. */
export interface IpPolicy {
  /** Allows private, loopback, unique local and carrier-grade NAT addresses beside public ones. */
  allowsPrivate: boolean
  /** Ranges that are allowed although they would be refused otherwise, such as link-local addresses. */
  allow?: readonly string[]
  /** Ranges that are refused; overrides `allow`. */
  deny?: readonly string[]
}

const privateRanges = new Set(['private', 'loopback', 'uniqueLocal', 'carrierGradeNat'])

/** All global unicast addresses of IPv6 that are assigned; the rest lead to IPv4 or nowhere. */
const globalUnicast = ipaddr.parseCIDR('2000::/3')

/**
 * Returns the check of one address, in any notation of IPv4 or IPv6. Always refused unless listed in `allow`:
 * link-local addresses (where clouds keep credentials), unspecified, multicast and reserved ones, and the IPv6 forms
 * that reach IPv4 through a gateway (NAT64, 6to4, Teredo). IPv4-mapped addresses count as IPv4. Throws for a malformed
 * range.
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
