import hljs from 'highlight.js/lib/common'
import { takeTasks } from '../../../lib/process/thread.ts'
import type { PreviewTask } from '../../../media/previews.ts'
import { parseText } from '../../content/text/render.ts'

// The thread of previews.
takeTasks(show)

function show(task: PreviewTask): string | null {
  if (task.form === 'Markdown') return parseText(task.text).html ?? ''
  const { language, text } = task
  if (hljs.getLanguage(language) === undefined) return null
  return hljs.highlight(text, { language, ignoreIllegals: true }).value
}
