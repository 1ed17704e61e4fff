/** Replaces a part of a field as if the user had typed it: the field's undo takes it back. */
export function typeOver(field: HTMLTextAreaElement, start: number, end: number, text: string): void {
  field.focus()
  field.setSelectionRange(start, end)
  // Deprecated, and the one way into the undo history in every browser.
  document.execCommand(text === '' ? 'delete' : 'insertText', false, text)
}
