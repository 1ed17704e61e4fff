import { textExtensions } from '../../media/text-files.ts'
import { extensionOf } from '../blobs/uploads/media-types.ts'

const extensions = {
  archive: '7z zip',
  audio: 'aac aif aiff au gsm m4a mid midi mka mp3 oga ogg ra ram snd spx wav wma',
  code: textExtensions.code,
  document: 'doc docm docx dotm dotx gdoc pages pdf',
  email: 'eml msg',
  image: 'ai apng bmp emf eps gif heic ico jpeg jpg png psd svg tif tiff webp wmf',
  presentation: 'gslides keynote potx ppt pptm pptx',
  spreadsheet: 'gsheet numbers xls xlsm xlsx xltx',
  text: textExtensions.text,
  video: '3g2 asf asx avi flv mk3d mkv mov mp4 mpeg mpg ogm ogv ogx qt rm rv smi smil swf webm wmv',
}

export const fileKinds = ['file', ...Object.keys(extensions)] as const
export const previewFormats = ['none', 'audio', 'code', 'embed', 'html', 'image', 'pdf', 'text', 'video'] as const
export type PreviewFormat = (typeof previewFormats)[number]

const byExtension = new Map(
  Object.entries(extensions).flatMap(([kind, list]) => list.split(' ').map(extension => [extension, kind])),
)

const shownImages = new Set(['apng', 'bmp', 'gif', 'ico', 'jpeg', 'jpg', 'png', 'svg', 'webp'])

/** The kind of a file by its name. */
export function kindOf(name: string): string {
  return byExtension.get(extensionOf(name)) ?? 'file'
}

interface Previewed {
  name: string
  /** Null for an external file. */
  key: string | null
  /** The URL of an external file for a frame. */
  embed: string | null
}

/** The form in which a file can be previewed. */
export function previewFormatOf({ name, key, embed }: Previewed): PreviewFormat {
  if (key === null) return embed === null ? 'none' : 'embed'
  const extension = extensionOf(name)
  if (shownImages.has(extension)) return 'image'
  if (extension === 'pdf') return 'pdf'
  if (extension === 'md' || extension === 'markdown') return 'html'
  if (extension === 'txt') return 'text'
  const kind = kindOf(name)
  return kind === 'code' || kind === 'audio' || kind === 'video' ? kind : 'none'
}
