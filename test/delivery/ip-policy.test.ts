import { expect, test } from 'vitest'
import { ipCheck, type IpPolicy } from '../../src/egress/ip-policy.ts'
import { Egress } from '../../src/egress/egress.ts'

const trusting: IpPolicy = { allowsPrivate: true }
const publicOnly: IpPolicy = { allowsPrivate: false }

test.each([
  ['loopback', '127.0.0.1'],
  ['loopback, in short', '127.1'],
  ['loopback, in decimal', '2130706433'],
  ['loopback, in octal', '017700000001'],
  ['loopback, in hex', '0x7f.0x0.0x0.0x1'],
  ['loopback, percent-encoded', '%31%32%37.0.0.1'],
  ['loopback, in full-width digits', '１２７.0.0.1'],
  ['loopback with a dot at the end', '127.0.0.1.'],
  ['another loopback address', '127.8.9.10'],
  ['loopback of IPv6', '[::1]'],
  ['IPv4-mapped loopback', '[::ffff:127.0.0.1]'],
  ['IPv4-mapped loopback in hex', '[::ffff:7f00:1]'],
  ['IPv4-compatible loopback', '[::7f00:1]'],
  ['IPv4-translated loopback', '[::ffff:0:7f00:1]'],
  ['the unspecified address', '0.0.0.0'],
  ['this network', '0.1.2.3'],
  ['the unspecified address of IPv6', '[::]'],
  ['private 10/8', '10.1.2.3'],
  ['private 172.16/12', '172.31.255.255'],
  ['private 192.168/16', '192.168.0.1'],
  ['carrier-grade NAT', '100.64.0.1'],
  ['link-local, where clouds keep credentials', '169.254.169.254'],
  ['link-local, in decimal', '2852039166'],
  ['link-local of IPv6', '[fe80::1]'],
  ['site-local of IPv6', '[fec0::1]'],
  ['unique local', '[fd12:3456::1]'],
  ['multicast', '224.0.0.1'],
  ['multicast of IPv6', '[ff02::1]'],
  ['broadcast', '255.255.255.255'],
  ['documentation', '192.0.2.1'],
  ['benchmarks', '198.18.0.1'],
  ['reserved', '240.0.0.1'],
  ['NAT64', '[64:ff9b::7f00:1]'],
  ['local NAT64', '[64:ff9b:1::7f00:1]'],
  ['6to4', '[2002:7f00:1::]'],
  ['Teredo', '[2001::1]'],
  ['documentation of IPv6', '[2001:db8::1]'],
  ['discard-only', '[100::1]'],
  ['unassigned IPv6', '[4000::1]'],
])('with public addresses only, %s is refused', async (_name, host) => {
  const egress = new Egress({ isAllowed: ipCheck(publicOnly) })

  const exchange = egress.send({
    url: `http://${host}:9/`,
    method: 'GET',
    headers: {},
    deadlineMs: 1_000,
    keepBytes: 0,
  })

  await expect(exchange).rejects.toMatchObject({ fault: 'address' })
})

test('public addresses of both kinds are allowed', () => {
  const isAllowed = ipCheck(publicOnly)

  expect(['93.184.215.14', '::ffff:93.184.215.14', '2606:2800:21f::1'].filter(isAllowed)).toHaveLength(3)
})

test('with private addresses allowed, link-local and unspecified ones are still refused', () => {
  const isAllowed = ipCheck(trusting)

  expect(['127.0.0.1', '10.0.0.1', '100.64.0.1', '::1', 'fd00::1'].filter(isAllowed)).toHaveLength(5)
  expect(['169.254.169.254', 'fe80::1', '0.0.0.0', '::', '224.0.0.1', '64:ff9b::7f00:1'].filter(isAllowed)).toEqual([])
})

test('a range that is allowed opens what is closed, and a denied one closes what is open', () => {
  const isAllowed = ipCheck({
    allowsPrivate: true,
    allow: ['169.254.1.0/24'],
    deny: ['10.0.0.0/8', '169.254.1.9/32'],
  })

  expect(isAllowed('169.254.1.8')).toBe(true)
  expect(isAllowed('192.168.0.1')).toBe(true)
  expect(isAllowed('10.1.1.1')).toBe(false)
  expect(isAllowed('::ffff:10.1.1.1')).toBe(false)
  expect(isAllowed('169.254.1.9')).toBe(false)
})

test.each(['10.0.0.0', '10.0.0.0/33', 'intranet', '::ffff:10.0.0.0/104'])('%s is no range to configure', range => {
  expect(() => ipCheck({ allowsPrivate: true, deny: [range] })).toThrow(range)
})
