import ipaddr from 'ipaddr.js'

export type Address = ipaddr.IPv4 | ipaddr.IPv6
export type Cidr = [Address, number]

/** True where the text can be configured as a range. */
export function isRange(text: string): boolean {
  try {
    toCidr(text)
    return true
  } catch {
    return false
  }
}

/** Parses a range such as `10.0.0.0/8` or `fd00::/8`. Throws for any other text. */
export function toCidr(text: string): Cidr {
  if (!ipaddr.isValidCIDR(text))
    throw new Error(`"${text}" is no address range. Write it as in 10.0.0.0/8 or fd00::/8.`)
  const range = ipaddr.parseCIDR(text)
  // IPv4-mapped addresses are compared as IPv4, so a mapped range would never match and silently protect nothing.
  if (range[0] instanceof ipaddr.IPv6 && range[0].isIPv4MappedAddress()) {
    throw new Error(`Write the range "${text}" as a range of IPv4 addresses.`)
  }
  return range
}

export function isWithin(address: Address, range: Cidr): boolean {
  return address.kind() === range[0].kind() && address.match(range)
}

/** Returns a check whether an address, in any notation of IPv4 or IPv6, is in one of the ranges. */
export function rangeCheck(ranges: readonly string[]): (address: string) => boolean {
  const parsed = ranges.map(toCidr)
  return text => {
    if (!ipaddr.isValid(text)) return false
    const address = ipaddr.process(text)
    return parsed.some(range => isWithin(address, range))
  }
}
