import ipaddr from 'ipaddr.js'

/** Which addresses may be reached. Ranges are CIDRs: `10.0.0.0/8`, `fd00::/8`. */
export interface AddressPolicy {
  /** Private, loopback, unique local and carrier-grade NAT addresses may be reached as well as public ones. */
  allowsPrivate: boolean
  /** Ranges that may be reached in any case: opens what is closed otherwise, such as link-local addresses. */
  allow?: readonly string[]
  /** Ranges that may never be reached, also where `allow` names them. */
  deny?: readonly string[]
}

type Address = ipaddr.IPv4 | ipaddr.IPv6
type Cidr = [Address, number]

const privateRanges = new Set(['private', 'loopback', 'uniqueLocal', 'carrierGradeNat'])

/** All global unicast addresses of IPv6 there are so far; what lies elsewhere leads to IPv4 or nowhere. */
const globalUnicast = ipaddr.parseCIDR('2000::/3')

/**
 * Makes the check of one address, in any notation of IPv4 or IPv6. Never allowed unless named: link-local addresses
 * (where clouds keep credentials), unspecified, multicast and reserved ones, and the forms of IPv6 through which a
 * gateway reaches IPv4 (NAT64, 6to4, Teredo). IPv4-mapped addresses count as the IPv4 address. Throws for a bad range.
 */
export function addressCheck({ allowsPrivate, allow = [], deny = [] }: AddressPolicy): (address: string) => boolean {
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

function isWithin(address: Address, range: Cidr): boolean {
  return address.kind() === range[0].kind() && address.match(range)
}

/** True for what can be configured as a range. */
export function isRange(text: string): boolean {
  try {
    toCidr(text)
    return true
  } catch {
    return false
  }
}

function toCidr(text: string): Cidr {
  if (!ipaddr.isValidCIDR(text))
    throw new Error(`"${text}" is no address range. Write it as in 10.0.0.0/8 or fd00::/8.`)
  const range = ipaddr.parseCIDR(text)
  // Mapped addresses are compared as IPv4, so such a range would never match and silently protect nothing.
  if (range[0] instanceof ipaddr.IPv6 && range[0].isIPv4MappedAddress()) {
    throw new Error(`Write the range "${text}" as a range of IPv4 addresses.`)
  }
  return range
}
