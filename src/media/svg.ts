/** Enough for everything before the root element, and its attributes. */
export const svgHeadBytes = 64 * 1024

/** The default size of a replaced element in CSS, for a picture without a size. */
const defaultSize = { width: 300, height: 150 }

/** The longest side that librsvg draws. */
const sideLimit = 32_767

/** The longest attribute value that is parsed: programs write sizes with up to 17 digits each. */
const valueLimit = 128

/** Pixels per unit, as in CSS. */
const units: Record<string, number> = { '': 1, px: 1, pt: 4 / 3, pc: 16, mm: 96 / 25.4, cm: 96 / 2.54, in: 96 }

/**
 * The size in pixels that an SVG declares; null for any other text. Only the root element is read, because the cost of
 * reading a whole SVG is up to its author.
 */
export function readSvgSize(head: string): { width: number; height: number } | null {
  const root = findRoot(head)
  if (root === null) return null
  const [width, height] = [toPixels(attribute(root, 'width')), toPixels(attribute(root, 'height'))]
  const box = toBox(attribute(root, 'viewBox'))
  const ratio = (box ?? defaultSize).width / (box ?? defaultSize).height
  const size = {
    width: Math.round(width ?? (height === null ? (box ?? defaultSize).width : height * ratio)),
    height: Math.round(height ?? (width === null ? (box ?? defaultSize).height : width / ratio)),
  }
  const isDrawn = [size.width, size.height].every(side => side >= 1 && side <= sideLimit)
  return isDrawn ? size : null
}

/** The text between `<svg` and `>`, if only declarations and comments come before. */
function findRoot(head: string): string | null {
  let at = 0
  for (;;) {
    while (/[\s\uFEFF]/.test(head.charAt(at))) at++
    if (head.startsWith('<?', at)) at = after(head, '?>', at)
    else if (head.startsWith('<!--', at)) at = after(head, '-->', at)
    else if (/^<!doctype/i.test(head.slice(at, at + 9))) at = afterDoctype(head, at)
    else break
  }
  const end = head.indexOf('>', at)
  return end > 0 && /^<(?:\w+:)?svg[\s/>]/.test(head.slice(at, at + 64)) ? head.slice(at, end) : null
}

function afterDoctype(head: string, at: number): number {
  const end = after(head, '>', at)
  const subset = head.indexOf('[', at)
  return subset > 0 && subset < end ? after(head, '>', after(head, ']', subset)) : end
}

/** The position after the next `mark`; the end of `head` if there is none. */
function after(head: string, mark: string, from: number): number {
  const at = head.indexOf(mark, from)
  return at < 0 ? head.length : at + mark.length
}

function attribute(root: string, name: string): string | undefined {
  const value = new RegExp(`\\s${name}\\s*=\\s*(["'])(.*?)\\1`, 's').exec(root)?.[2]
  return value === undefined || value.length > valueLimit ? undefined : value
}

/** Null for a length that depends on where the picture is shown, such as 100%. */
function toPixels(length: string | undefined): number | null {
  const [, number, unit] = /^\s*((?:\d*\.)?\d+)([a-z]*)\s*$/i.exec(length ?? '') ?? []
  const scale = units[unit?.toLowerCase() ?? '']
  return number === undefined || scale === undefined ? null : Number(number) * scale
}

function toBox(viewBox: string | undefined): { width: number; height: number } | null {
  const [, , width, height] = (viewBox ?? '')
    .trim()
    .split(/[\s,]+/)
    .map(Number)
  return width !== undefined && height !== undefined && width > 0 && height > 0 ? { width, height } : null
}
