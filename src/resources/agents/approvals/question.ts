import { loadingCommand } from '../../../engine/command.ts'
import type { Question } from '../../../agents/runs/host.ts'
import type { RunRow } from '../../../agents/runs/run.ts'
import { lockRun, type Lease } from '../../../agents/runs/lease-store.ts'
import { numbersForItem } from '../../items/writing/make.ts'
import type { PreparedContent } from '../../items/writing/prepare.ts'
import { findParent, makeReply, type Place } from '../runs/reply.ts'
import { insertApproval, tellApproval, toExpiry } from './store.ts'

/** Characters quoted of the model's text before the question. */
const preambleLimit = 1_000

/** Bytes of the arguments in the text, and in the metadata. */
const argumentsLimit = 2_000
const metadataLimit = 16 * 1024

/** The options of the poll, in this order: any client with polls can approve. */
export const approve = 'Approve'
export const decline = 'Decline'

interface NewQuestion {
  id: number
  place: Place
  content: PreparedContent
  lease: Lease
  question: Question
}

/** Posts the question for approval of a call. Throws as `postReply`. */
export const postQuestion = loadingCommand(
  'post_agent_question',
  async (db, app, { place, lease }: NewQuestion) => {
    await lockRun(db, lease)
    return findParent(db, app, place)
  },
  (work, { id, place, content, lease, question }): { id: number } => {
    const item = makeReply(work, place, content, work.loaded)
    const { step, server, tool, binding } = question
    const approval = {
      id,
      run_id: lease.run,
      step,
      server,
      tool,
      arguments_text: JSON.stringify(question.arguments),
      binding,
      item_type: place.type,
      item_id: item.id,
      created_at: work.now,
    }
    work.write(insertApproval, approval)
    work.write(tellApproval, approval)
    return { id: item.id }
  },
  { maxIds: ({ content }) => numbersForItem(content) },
)

/** The text of the question. */
export function toQuestionText({ server, tool, arguments: args, preamble }: Question): string {
  const json = JSON.stringify(args, null, 2)
  const shown = json.length > argumentsLimit ? `${json.slice(0, argumentsLimit).toWellFormed()}\n…` : json
  const longest = Math.max(2, ...Array.from(shown.matchAll(/`+/g), ([run]) => run.length))
  const fence = '`'.repeat(longest + 1)
  const asked = `May I use **${bold(tool)}** of **${bold(server)}**?\n\n${fence}json\n${shown}\n${fence}`
  const before = preamble.slice(0, preambleLimit).toWellFormed().trim()
  return before === '' ? asked : `${before}\n\n${asked}`
}

function bold(name: string): string {
  return name.replace(/[\\*_`[\]<>]/g, String.raw`\$&`).replace(/\s+/g, ' ')
}

/** The metadata of the question, for programs. */
export function toQuestionMetadata(id: number, run: RunRow, question: Question, now: Date): Record<string, unknown> {
  const { server, tool, arguments: args } = question
  const isLong = Buffer.byteLength(JSON.stringify(args)) > metadataLimit
  return {
    run: String(run.id),
    reply_to: { type: run.item_type, id: String(run.item_id) },
    tool_approval: {
      id: String(id),
      server,
      tool,
      arguments: isLong ? { cut: true } : args,
      state: 'pending',
      expires_at: toExpiry(now)
        .toISOString()
        .replace(/\.\d+Z$/, 'Z'),
    },
  }
}
