(function_declaration name: (identifier) @name) @symbol.function
(method_declaration
  receiver: (parameter_list (parameter_declaration type: (_) @container))
  name: (field_identifier) @name) @symbol.method
(type_spec name: (type_identifier) @name type: (struct_type)) @symbol.struct
(type_spec name: (type_identifier) @name type: (interface_type)) @symbol.interface
(type_spec name: (type_identifier) @name) @symbol.type
(type_alias name: (type_identifier) @name) @symbol.type
(const_spec name: (identifier) @name) @symbol.constant
(var_spec name: (identifier) @name) @symbol.variable
(method_elem name: (field_identifier) @name) @symbol.method
(field_declaration name: (field_identifier) @name) @symbol.field
(func_literal) @scope.function
(import_declaration) @scope.import
