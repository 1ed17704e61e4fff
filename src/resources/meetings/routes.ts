import { reply } from '../../http/route.ts'
import { route } from '../route.ts'
import { createMeeting } from './commands.ts'
import { showMeeting } from './represent.ts'
import { Meeting, NewMeeting } from './schema.ts'

const create = route('POST /api/meetings', {
  summary: 'Add a meeting that items can carry',
  auth: 'token or key',
  body: NewMeeting,
  creates: true,
  replies: { 201: Meeting },
  async handle({ body, by, idempotencyKey }, { globalCommands }) {
    return reply(201, showMeeting(await globalCommands.run(createMeeting, by, body, idempotencyKey)))
  },
})

export const routes = [create]
