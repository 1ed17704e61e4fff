import { reply } from '../../../http/route.ts'
import { route } from '../../route.ts'
import { NotFound } from '../../../lib/errors.ts'
import { toId } from '../../../api/reference.ts'
import { toPage } from '../../../api/page.ts'
import { requireShown } from '../../content/find.ts'
import type { ContentKind } from '../../content/kind.ts'
import { kinds } from '../../content/kinds.ts'
import { ContentPath } from '../../content/schema.ts'
import { FileListing, Files } from '../schema.ts'
import { showPage } from '../show.ts'
import { listFiles } from '../pages.ts'
import { orderFields } from '../store.ts'

const listOf = (kind: ContentKind) =>
  route(`GET /api/${kind.entity}s/{id}/attachments`, {
    summary: `List the files attached to a ${kind.entity}`,
    auth: 'token or key',
    params: ContentPath,
    query: FileListing,
    replies: { 200: Files },
    problems: [NotFound],
    async handle({ params, query, by, representation, origin }, { sql, apps, userCache }) {
      const caller = { by, representation, origin, sql, apps, userCache }
      const page = toPage(query, orderFields, 'id', 'along')
      const { row, state } = await requireShown(kind, toId(params.id), caller)
      const scope = { apps: null, writable: null, parent: row.id }
      return reply(200, await showPage(await listFiles(sql, scope, page), page, caller, state))
    },
  })

export const attachmentRoutes = Object.values(kinds).map(listOf)
