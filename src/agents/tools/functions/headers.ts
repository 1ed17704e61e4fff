import { standardHeaders } from '../../../egress/standard-webhooks.ts'
import type { Secret } from '../../../lib/secret.ts'
import type { CallContext, ToolboxRequest } from '../tool.ts'
import type { FunctionDefinition } from './function.ts'
import type { FunctionRequest } from './request.ts'

/** Set by the HTTP client; other values would make requests that servers take for attacks. */
const ofClient = new Set([
  'connection',
  'content-length',
  'expect',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

interface Signed {
  method: FunctionDefinition['method']
  request: FunctionRequest
  configured: Record<string, string>
  of: ToolboxRequest
  call: Pick<CallContext, 'run' | 'step'>
  version: string
  secret: Secret | null
  now: Date
}

/** The headers of a call: the owner's, and the server's own, which cannot be overridden. */
export function toHeaders({ method, request, configured, of, call, version, secret, now }: Signed) {
  const id = `${call.run}-${call.step}`
  const own: Record<string, string> = {
    'user-agent': `ServiceBot/${version}`,
    accept: 'application/json, text/*;q=0.9, */*;q=0.1',
    ...(request.body !== null && { 'content-type': 'application/json; charset=utf-8' }),
    'x-service-agent': toVisible(of.agent.uid ?? String(of.agent.id)),
    'x-service-user': toVisible(of.asker.uid ?? String(of.asker.id)),
    ...(of.app !== null && { 'x-service-app': toVisible(of.app.uid ?? String(of.app.id)) }),
    'x-service-run': call.run,
    'idempotency-key': id,
    ...(secret !== null && signatureOf({ method, request, id, secret, now })),
  }
  const others = Object.entries(configured).filter(([name]) => {
    const lower = name.toLowerCase()
    return !(lower in own) && !ofClient.has(lower) && !/^(?:x-service-|webhook-)/.test(lower)
  })
  return { ...Object.fromEntries(others), ...own }
}

/** A signature by Standard Webhooks; without a body, method and path are signed instead. */
function signatureOf({
  method,
  request,
  id,
  secret,
  now,
}: Omit<Signed, 'configured' | 'of' | 'call' | 'version'> & { id: string; secret: Secret }) {
  const { pathname, search } = new URL(request.url)
  return standardHeaders({ id, at: now, body: request.body ?? `${method} ${pathname}${search}` }, [secret.reveal()])
}

/** Header values hold printable ASCII: other characters of a uid are percent-encoded as UTF-8. */
function toVisible(text: string): string {
  return text.toWellFormed().replace(/[^\x20-\x7e]+/g, encodeURIComponent)
}
