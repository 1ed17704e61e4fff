import { takeTasks } from '../../../lib/process/thread.ts'
import { readText } from './render.ts'

// The thread of long texts.
takeTasks(readText)
