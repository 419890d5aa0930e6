// The smallest host: an `api` for a plugin's `setup` that keeps what is registered in arrays.

export type RegisteredTool = {
  name: string;
  description?: string;
  inputSchema?: unknown;
  timeoutMs?: number;
  execute: (input: unknown, context?: unknown) => unknown;
};

export type RegisteredCommand = { name: string; description?: string; handler?: (input: string) => unknown };

export type RegisteredRule = {
  id: string;
  content: string | (() => string | Promise<string>);
  whenToolAvailable?: string;
};

export type ApiCapture = {
  tools: RegisteredTool[];
  commands: RegisteredCommand[];
  rules: RegisteredRule[];
  messageBuilders: unknown[];
  providers: unknown[];
  automationEventTypes: unknown[];
  mcpServers: unknown[];
  /** What goes into `setup(api, ctx)`. */
  api: {
    registerTool(tool: RegisteredTool): void;
    registerCommand(command: RegisteredCommand): void;
    registerRule(rule: RegisteredRule): void;
    registerMessageBuilder(builder: unknown): void;
    registerProvider(provider: unknown): void;
    registerAutomationEventType(eventType: unknown): void;
    registerMcpServer(server: unknown): void;
  };
};

export function createApiCapture(): ApiCapture {
  const tools: RegisteredTool[] = [];
  const commands: RegisteredCommand[] = [];
  const rules: RegisteredRule[] = [];
  const messageBuilders: unknown[] = [];
  const providers: unknown[] = [];
  const automationEventTypes: unknown[] = [];
  const mcpServers: unknown[] = [];
  return {
    tools,
    commands,
    rules,
    messageBuilders,
    providers,
    automationEventTypes,
    mcpServers,
    api: {
      registerTool: (tool) => void tools.push(tool),
      registerCommand: (command) => void commands.push(command),
      registerRule: (rule) => void rules.push(rule),
      registerMessageBuilder: (builder) => void messageBuilders.push(builder),
      registerProvider: (provider) => void providers.push(provider),
      registerAutomationEventType: (eventType) => void automationEventTypes.push(eventType),
      registerMcpServer: (server) => void mcpServers.push(server),
    },
  };
}
