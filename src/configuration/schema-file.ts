/** The name of the file with the schema beside an exported bundle. */
export const SCHEMA_FILE = 'docket.schema.json';

/** The line at the head of a file that leads editors to the schema beside it. */
export const SCHEMA_LINE = `# yaml-language-server: $schema=./${SCHEMA_FILE}\n`;
