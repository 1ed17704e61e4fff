import { faultOf, parseArguments } from '../../providers/call-arguments.ts'
import type { Call, CallResult } from '../../providers/provider.ts'
import { searchToolName, type BoundTool, type Toolbox } from '../../tools/tool.ts'
import type { Approval, Question } from '../host.ts'
import type { Journal } from '../journal.ts'
import { toResult, type CallBody, type StepRow } from '../steps.ts'

/** The most calls of one round; further ones get an error. A rule of the API. */
const callLimit = 16

/** The most calls of one round that need approval. */
const questionLimit = 4

/** Concurrent calls. */
const atOnce = 4

const tooMany = 'There were too many calls in one round. Call again what is still needed.'
const isLost = 'The call was sent, but its result was lost. Do not repeat it without asking.'

export interface Round {
  /** The run's id, for tools. */
  run: string
  journal: Journal
  toolbox: Toolbox
  /** The model's text beside the calls. */
  text: string
  calls: readonly Call[]
  /** The number of the first call's step; the others follow. */
  first: number
  /** The stored steps of these calls. */
  stored: ReadonlyMap<number, StepRow>
  approvals: readonly Approval[]
  /** Files of all passages given to the model so far; this round's are appended. */
  passages: number[]
  signal: AbortSignal
  onCall: (tool: string, isBegun: boolean) => void
  onEnd: (kind: string, outcome: string) => void
}

/** A call with its tool and parsed arguments. */
interface Planned {
  call: Call
  step: number
  tool: BoundTool | undefined
  args: Record<string, unknown> | null
}

/** The calls that need approval before any call of the round is made; none: the round can begin. */
export function listQuestions(round: Round): Question[] {
  return plan(round)
    .filter(planned => needsApproval(planned, round))
    .slice(0, questionLimit)
    .filter(({ step }) => round.approvals.every(approval => approval.step !== step))
    .map(({ step, tool, args }) => {
      const { server, tool: name, binding } = tool!.approval!
      return { step, server, tool: name, arguments: args!, binding: binding(args!), preamble: round.text }
    })
}

/**
 * Makes the calls of a round that have no stored result, some concurrently, and returns all results in order. Rejects
 * with RunLost, or when the signal aborts.
 */
export async function callTools(round: Round): Promise<CallResult[]> {
  const planned = plan(round)
  const asked = planned.filter(one => needsApproval(one, round)).slice(questionLimit)
  const bodies = Array.from<CallBody>({ length: planned.length })
  const make = async (place: number) => {
    const one = planned[place]!
    const isSurplus = place >= callLimit || asked.includes(one)
    const body = isSurplus ? { arguments: null, result: tooMany, isError: true } : await resolveCall(one, round)
    bodies[place] = body
    round.passages.push(...(body.files ?? []))
  }
  // Searches run one after the other: each numbers its passages after those before it.
  const searches = [...planned.keys()].filter(place => planned[place]!.call.name === searchToolName)
  const others = [...planned.keys()].filter(place => planned[place]!.call.name !== searchToolName)
  const work = async (...places: number[][]) => {
    for (const waiting of places) {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await make(next)
    }
  }
  const first = work(searches, others)
  // Waits for all: a call that outlived a failed run would write into the run's next claim.
  const ended = await Promise.allSettled([first, ...Array.from({ length: atOnce - 1 }, () => work(others))])
  for (const result of ended) if (result.status === 'rejected') throw result.reason
  return planned.map(({ call }, place) => toResult(call, bodies[place]!))
}

function plan({ calls, first, toolbox }: Round): Planned[] {
  return calls.map((call, place) => ({
    call,
    step: first + place,
    tool: toolbox.tools.find(({ name }) => name === call.name),
    args: parseArguments(call.arguments),
  }))
}

/** Once asked, a call stays bound to the decision, whatever its tool requires now. */
function needsApproval({ tool, args, step }: Planned, { approvals, first }: Round): boolean {
  if (step - first >= callLimit) return false
  return approvals.some(approval => approval.step === step) || (args !== null && (tool?.approval ?? null) !== null)
}

async function resolveCall(planned: Planned, round: Round): Promise<CallBody> {
  const stored = round.stored.get(planned.step)
  if (stored !== undefined && stored.outcome !== null) return stored.body as CallBody
  const approval = round.approvals.find(({ step }) => step === planned.step)
  const { call, tool, args, step } = planned
  const body: CallBody = { arguments: args }
  const refuse = (result: string): CallBody => ({ ...body, result, isError: true })
  if (tool === undefined) return await file(refuse(`There is no tool ${call.name} now.`), 'error', planned, round)
  if (args === null)
    return await file(refuse(`The arguments are no JSON object: ${faultOf(call.arguments)}.`), 'error', planned, round)
  if (approval !== undefined) {
    const refusal = refusalOf(approval, tool, args)
    if (refusal !== null) return await file(refuse(refusal), 'error', planned, round)
  }
  if (stored !== undefined && !tool.isRepeatable) return await file(refuse(isLost), 'unknown', planned, round)

  const { journal, run, signal, passages, onCall } = round
  await journal.called({ n: step, kind: tool.kind, name: call.name, callId: call.id, args })
  onCall(call.name, true)
  const result = await tool.call(args, { run, step, passages: passages.length, signal })
  signal.throwIfAborted()
  onCall(call.name, false)
  const { text, isError, images, passages: found } = result
  const done: CallBody = {
    ...body,
    result: text,
    isError,
    ...(images && { images: images.map(({ image, type }) => ({ image: image.toString('base64'), type })) }),
    ...(found && { files: found.map(({ file }) => file) }),
  }
  await journal.ended({ n: step, body: done, outcome: isError ? 'error' : 'ok' })
  round.onEnd(tool.kind, isError ? 'error' : 'ok')
  return done
}

/** Null where exactly this call was approved. */
function refusalOf(approval: Approval, tool: BoundTool, args: Record<string, unknown>): string | null {
  const { state, note, decider, binding } = approval
  if (state !== 'approved') return `${decider ?? 'The person'} declined${note === null ? '' : `: ${note}`}`
  const now = tool.approval?.binding(args)
  return now === undefined || now.equals(binding) ? null : 'The tool was changed since the call was approved.'
}

/** Stores a result for which no call was made. */
async function file(
  body: CallBody,
  outcome: 'error' | 'unknown',
  { call, step, tool }: Planned,
  { journal, stored, onEnd }: Round,
): Promise<CallBody> {
  const kind = tool?.kind ?? 'function'
  if (!stored.has(step)) {
    await journal.called({ n: step, kind, name: call.name, callId: call.id, args: body.arguments })
  }
  await journal.ended({ n: step, body, outcome })
  onEnd(kind, outcome)
  return body
}
